/** Returns the path of the next page of a list, or undefined if the response is that of the last page. */
export const nextPagePath = (headers: Headers): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
