export {} from './config.js';
