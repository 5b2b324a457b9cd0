/** Sends the requests of the generated functions to `baseUrl`, and parses each response by its media type. */
export async function request<Received>(url: string, init: RequestInit & { baseUrl?: string }): Promise<Received> {
  const { baseUrl = '', ...rest } = init;
  const response = await fetch(baseUrl + url, rest);
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  const data = await (isJson ? response.json() : response.blob());
  return { status: response.status, data, headers: response.headers } as Received;
}
