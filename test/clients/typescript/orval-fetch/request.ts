/** What the generated functions send by: it knows the base address and the token, and reads a body by its type. */
export async function request<Reply>(url: string, init: RequestInit & { baseUrl?: string }): Promise<Reply> {
  const { baseUrl = '', ...rest } = init;
  const response = await fetch(baseUrl + url, rest);
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  const data = await (isJson ? response.json() : response.blob());
  return { status: response.status, data, headers: response.headers } as Reply;
}
