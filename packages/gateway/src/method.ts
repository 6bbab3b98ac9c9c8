/** One entry of the table of methods: what goes in, what comes out, and what answers. */
import { create, type DescMessage, type DescMethodUnary, type Message, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { METHOD_ACCESS, type MethodName } from '@qim/proto';
import type { CallContext } from './contract.js';

export interface Method {
  readonly name: MethodName;
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** `request` is of type `input`; the answer is of type `output`. */
  readonly handle: (context: CallContext, request: Message) => Promise<Message>;
}

export function method<Input extends DescMessage, Output extends DescMessage>(
  desc: DescMethodUnary<Input, Output>,
  handle: (context: CallContext, request: MessageShape<Input>) => Promise<MessageInitShape<Output>>,
): Method {
  return {
    name: methodName(desc),
    input: desc.input,
    output: desc.output,
    handle: async (context, request) => create(desc.output, await handle(context, request as MessageShape<Input>)),
  };
}

/** Such as `qim.v1.MessageService/SendMessage`. */
export function methodName(desc: { readonly parent: { readonly typeName: string }; readonly name: string }): MethodName {
  const name = `${desc.parent.typeName}/${desc.name}`;
  if (!isMethodName(name)) throw new Error(`${name} is missing in METHOD_ACCESS`);
  return name;
}

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(METHOD_ACCESS, name);
}
