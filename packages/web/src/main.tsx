import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { startLanguage } from './i18n/i18n.js';
import { showTheme } from './shared/theme.js';
import './styles.css';

showTheme();
startLanguage();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
