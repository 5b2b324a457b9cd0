/** How far one step of a move has come. */
export type Progress = (step: string, done: number, total: number) => void;

/** Takes a difference between source and target in a few words: ids and names, no content. */
export type Found = (difference: string) => void;
