/** Receives a difference between source and target, described by ids and names, without content. */
export type OnDifference = (difference: string) => void;
