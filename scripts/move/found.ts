/** Takes a difference between source and target in a few words: ids and names, no content. */
export type Found = (difference: string) => void;
