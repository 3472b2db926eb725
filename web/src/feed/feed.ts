// An endless feed: its entries so far, and how to get more. It outlives the screen that shows it,
// so that going back shows the same pins.
import { hiddenPins, onHidden } from "./hidden";

export interface Entry {
  id: string;
  ratio: number;
  owner?: string;
  reason?: string;
}

export interface Health {
  mayBeStale: boolean;
  staleSince: string | null;
  // The feed stores that answered: "new" pins and "shown" ones, or the one store of other feeds.
  stores: ("PRIMARY" | "STANDBY" | null)[];
}

export interface Page {
  entries: Entry[];
  more: boolean;
  health: Health;
  // Whether a part of the page could not be read.
  partial: boolean;
}

export interface State {
  entries: Entry[];
  health: Health | null;
  partial: boolean;
  loading: boolean;
  // Whether the entries belong to the previous feed, while a new feed is being read.
  renewing: boolean;
  failed: boolean;
  ended: boolean;
  // Grows when the feed is started again.
  round: number;
}

const EMPTY: State = {
  entries: [],
  health: null,
  partial: false,
  loading: false,
  renewing: false,
  failed: false,
  ended: false,
  round: 0,
};

// Reads the feed's next page; `begin` starts a new feed, after the write that `seen` names.
export interface Source {
  begin(seen: string | null): Promise<Page>;
  next(): Promise<Page>;
}

export class Feed {
  state = EMPTY;
  // All entries, including hidden ones, which return when hiding is undone.
  #all: Entry[] = [];
  // The token of the newest write that this feed must show, until it was requested.
  #expected: string | null = null;
  #listeners = new Set<() => void>();
  #round = 0;

  // `hides`: whether pins that the viewer hides leave this feed.
  constructor(
    readonly source: Source,
    readonly hides = false,
  ) {
    if (hides) onHidden(() => this.#set({ entries: this.#visible() }));
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  snapshot = (): State => this.state;

  // The viewer followed or pinned something that this feed will show.
  expect(token: string | null | undefined): void {
    if (token) {
      this.#expected = token;
      this.#set({});
    }
  }

  get isOutdated(): boolean {
    return this.#expected !== null;
  }

  async open(): Promise<void> {
    const { entries, ended, loading } = this.state;
    const empty = !entries.length && !ended && !loading;
    if (this.isOutdated || empty) await this.renew();
  }

  // Starts the feed again, with new follows and new pins.
  async renew(): Promise<void> {
    const seen = this.#expected;
    this.#expected = null;
    const done = await this.#load(() => this.source.begin(seen), true);
    if (!done) this.#expected ??= seen;
  }

  async more(): Promise<void> {
    if (this.state.loading || this.state.ended || this.state.failed) return;
    await this.#load(() => this.source.next(), false);
  }

  async retry(): Promise<void> {
    await (this.state.entries.length ? this.#load(() => this.source.next(), false) : this.renew());
  }

  async #load(read: () => Promise<Page>, anew: boolean): Promise<boolean> {
    const round = ++this.#round;
    this.#set({ loading: true, renewing: anew, failed: false });
    try {
      const page = await read();
      if (round !== this.#round) return true; // a newer request replaces this one
      const before = anew ? [] : this.#all;
      this.#all = [...before, ...fresh(before, page.entries)];
      this.#set({
        entries: this.#visible(),
        health: page.health,
        partial: page.partial,
        ended: !page.more,
        loading: false,
        renewing: false,
        round: this.state.round + (anew ? 1 : 0),
      });
      return true;
    } catch {
      if (round === this.#round) this.#set({ loading: false, renewing: false, failed: true });
      return false;
    }
  }

  #visible(): Entry[] {
    if (!this.hides) return this.#all;
    const hidden = hiddenPins();
    return this.#all.filter((entry) => !hidden.has(entry.id));
  }

  #set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

// The entries that the feed does not have yet. The pages of one visit never repeat a pin, but two
// visits may.
function fresh(known: Entry[], page: Entry[]): Entry[] {
  const there = new Set(known.map((entry) => entry.id));
  return page.filter((entry) => !there.has(entry.id) && there.add(entry.id));
}
