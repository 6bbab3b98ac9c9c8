/** Sockets that do what the test says, for tests of time: no network, no waiting. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { WebSocketLike } from '@qim/client';
import { ClientFrameSchema, ServerFrameSchema } from '@qim/proto/schema';

export class FakeSocket implements WebSocketLike {
  static made: FakeSocket[] = [];
  static get last(): FakeSocket {
    const last = FakeSocket.made.at(-1);
    if (last === undefined) throw new Error('no socket was made');
    return last;
  }

  binaryType = 'blob';
  readyState = 1;
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  closedWith: number | undefined;
  readonly tokens: string[] = [];
  readonly callIds: number[] = [];
  /** Of the calls, in their order. */
  readonly methods: string[] = [];

  readonly url: string;
  readonly protocols: string;

  constructor(url: string, protocols: string) {
    this.url = url;
    this.protocols = protocols;
    FakeSocket.made.push(this);
  }

  send(data: Uint8Array): void {
    const frame = fromBinary(ClientFrameSchema, data);
    if (frame.kind.case === 'hello') this.tokens.push(frame.kind.value.token);
    else if (frame.kind.case === 'call') {
      this.callIds.push(Number(frame.id));
      this.methods.push(frame.kind.value.method);
    }
  }

  close(code?: number): void {
    this.closedWith = code;
  }

  open(): void {
    this.onopen?.({});
  }

  welcome(): void {
    this.open();
    this.frame({ case: 'welcome', value: { userId: 'alice' } });
  }

  frame(kind: NonNullable<MessageInitShape<typeof ServerFrameSchema>['kind']>, id = 0): void {
    const bytes = toBinary(ServerFrameSchema, create(ServerFrameSchema, { id: BigInt(id), kind }));
    this.onmessage?.({ data: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) });
  }

  /** As the network or the server ends it. */
  end(code: number): void {
    this.onclose?.({ code, reason: '' });
  }
}
