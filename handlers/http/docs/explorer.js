import { fastDocument } from './document.js';
import { forms } from './forms.js';
import { layout } from './layout.js';
import { responses } from './responses.js';
import { session } from './session.js';

const dark = matchMedia('screen and (prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const explorer = document.querySelector('#explorer');

SwaggerUIBundle({
  url: explorer.dataset.document,
  domNode: explorer,
  layout: 'Explorer',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // A theme whose colors have enough contrast.
  syntaxHighlight: { theme: 'tomorrow-night' },
  validatorUrl: null,
  // The client splits the values of headers at commas, and Swagger UI would show them without the spaces.
  responseInterceptor(response) {
    for (const [name, value] of Object.entries(response.headers)) response.headers[name] = [value].flat().join(', ');
    return response;
  },
  plugins: [fastDocument, layout, session, forms, responses],
});
