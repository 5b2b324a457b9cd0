export interface RequestOptions {
  token?: string | undefined;
  /** A body that is sent as JSON. */
  json?: object | undefined;
  /** Any other body. A blob is sent with its type. */
  body?: FormData | Blob | undefined;
}

/** Sends a request such as `GET /posts/7`, and reads the response. `json` is defined only if the response is JSON. */
export async function send(baseUrl: string, request: string, { token, json, body }: RequestOptions = {}) {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(new URL(path, baseUrl), {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(json && { 'Content-Type': 'application/json' }),
    },
    body: json ? JSON.stringify(json) : (body ?? null),
  });
  const { status, headers } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = bytes.length > 0 && headers.get('content-type')?.startsWith('application/json');
  return { status, headers, bytes, json: isJson ? JSON.parse(bytes.toString()) : undefined };
}

/** Returns a form without the fields that are undefined. */
export function formOf(fields: Record<string, string | Blob | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, value);
  return form;
}

export const pngBlob = (bytes: Buffer) => new Blob([bytes], { type: 'image/png' });
