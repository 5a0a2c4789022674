/** A process of this machine. */
export interface FoundProcess {
  readonly pid: number;
  /** Its arguments, for people. */
  readonly command: string;
}
/**
 * Processes whose environment, arguments or working directory contain `mark`, and all that descend from them, without
 * this process and its ancestors.
 */
export declare function findProcesses(mark: string): FoundProcess[];
/** Ends the processes that {@link findProcesses} finds: asks first, kills after `patienceMs` (3000), rejects 10 s later. */
export declare function endProcesses(mark: string, options?: { readonly patienceMs?: number }): Promise<void>;
