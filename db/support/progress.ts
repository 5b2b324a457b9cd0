/** How far one step of something long has come. */
export type Progress = (step: string, done: number, total: number) => void;
