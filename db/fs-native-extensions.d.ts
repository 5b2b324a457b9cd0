declare module 'fs-native-extensions' {
  /** Takes an exclusive lock on an open file, unless another descriptor has it. */
  export function tryLock(fd: number): boolean;
}
