/** Model checks: random work, done to a store and to the reference model, that must be answered alike. */
export { type ModelReport, type ModelRunOptions, report, runModel } from './run.js';
export type { Subject } from './subject.js';
