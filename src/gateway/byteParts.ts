/** So many parts are kept as they came. One object for each byte would take a hundred times the memory of the bytes. */
const keptApart = 256;

/** Parts that are longer on average are worth their objects, in bytes. */
const worthItself = 1_024;

/** Bytes that come in parts of any size until they are a whole. */
export class ByteParts {
  private readonly joined: Buffer[] = [];
  private readonly latest: Buffer[] = [];
  private latestSize = 0;
  private total = 0;

  /** In bytes. */
  get size(): number {
    return this.total;
  }

  add(part: Buffer): void {
    this.total += part.length;
    this.latestSize += part.length;
    this.latest.push(part);
    if (this.latest.length < keptApart) return;
    if (this.latestSize < keptApart * worthItself) this.joined.push(Buffer.concat(this.latest, this.latestSize));
    else this.joined.push(...this.latest);
    this.latest.length = 0;
    this.latestSize = 0;
  }

  /** The whole; nothing is left here. */
  take(): Buffer {
    const parts = [...this.joined, ...this.latest];
    const [first] = parts;
    const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, this.total);
    this.clear();
    return whole;
  }

  clear(): void {
    this.joined.length = 0;
    this.latest.length = 0;
    this.latestSize = 0;
    this.total = 0;
  }
}
