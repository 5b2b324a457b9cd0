declare module 'fs-native-extensions' {
  /** Locks an open file. Returns false if another descriptor holds a conflicting lock. */
  export function tryLock(fd: number, options?: { shared?: boolean }): boolean;
  /** Waits for an exclusive lock on an open file. */
  export function waitForLock(fd: number): Promise<void>;
}
