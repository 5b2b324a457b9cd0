declare module 'fs-native-extensions' {
  /** Locks an open file, exclusively unless `shared` is true. Returns false if another descriptor holds a conflicting lock. */
  export function tryLock(fd: number, options?: { shared?: boolean }): boolean;
  /** Locks an open file exclusively. Waits until no other descriptor holds a lock. */
  export function waitForLock(fd: number): Promise<void>;
}
