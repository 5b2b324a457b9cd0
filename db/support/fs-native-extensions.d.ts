declare module 'fs-native-extensions' {
  /** Takes a lock on an open file, unless another descriptor has one that excludes it. */
  export function tryLock(fd: number, options?: { shared?: boolean }): boolean;
  /** Takes an exclusive lock once it is free. */
  export function waitForLock(fd: number): Promise<void>;
}
