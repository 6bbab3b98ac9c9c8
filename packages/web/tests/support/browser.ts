export { launchChromium as launch } from '../../../../tools/testing/chromium.js';
