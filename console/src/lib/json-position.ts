const TOKEN = /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Returns the position of the first error in a JSON text (RFC 8259). Browsers do not always report it. */
export function jsonErrorPosition(text: string): number {
  return new Scanner(text).errorPosition();
}

/** Reads tokens, and throws itself at the first one that does not fit. */
class Scanner {
  private position = 0;

  constructor(private readonly text: string) {}

  errorPosition(): number {
    try {
      this.value();
      this.skipSpace();
    } catch (stop) {
      if (stop !== this) throw stop;
    }
    return this.position;
  }

  private value(): void {
    if (this.take("{")) this.list("}", () => this.member());
    else if (this.take("[")) this.list("]", () => this.value());
    else if (/^[{}[\],:]?$/.test(this.peek())) throw this;
    else this.take(this.peek());
  }

  private member(): void {
    if (!this.peek().startsWith('"')) throw this;
    this.take(this.peek());
    this.need(":");
    this.value();
  }

  private list(end: string, entry: () => void): void {
    if (this.take(end)) return;
    do entry();
    while (this.take(","));
    this.need(end);
  }

  private need(token: string): void {
    if (!this.take(token)) throw this;
  }

  private take(token: string): boolean {
    if (token === "" || this.peek() !== token) return false;
    this.position += token.length;
    return true;
  }

  /** Returns the next token, or an empty text at the end and before invalid text. */
  private peek(): string {
    this.skipSpace();
    TOKEN.lastIndex = this.position;
    return TOKEN.exec(this.text)?.[0] ?? "";
  }

  private skipSpace(): void {
    while (/[ \t\n\r]/.test(this.text.charAt(this.position))) this.position++;
  }
}
