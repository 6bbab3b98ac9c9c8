/** What `qim doctor` looks at. */
export * from './health.js';
