export { type Trust, trustOf } from './client-address.js';
export type * from './contract.js';
export { createGateway } from './gateway.js';
export { messageJson } from './message-json.js';
export { createJwksVerifier, createSecretTokens, type JwksOptions, type SecretTokensOptions } from './tokens.js';
