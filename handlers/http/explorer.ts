/** What the explorer's page may do: run and style itself by what this service serves, and ask nobody else. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI's icons are data; an image that it has downloaded is shown as a blob.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page, with a way to the operations of each tag. */
export const page = (tags: readonly string[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Social posting service: API explorer</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/explorer.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/explorer.js" defer></script>
  </head>
  <body>
    <nav aria-label="Operations">
      ${tags.map((tag) => `<a href="#operations-tag-${tag}">${tag}</a>`).join('\n      ')}
    </nav>
    <main id="explorer"></main>
    <noscript>The explorer needs JavaScript. The contract itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
  </body>
</html>
`;

export const SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const adjustments = ({ React }) => ({
  // What is left empty in a form is not sent: no field of ours may be empty.
  components: { ParameterIncludeEmpty: () => null },
  wrapComponents: {
    // Optional fields start empty, or a change of the name would change the password to the sample's too.
    JsonSchemaForm: (Form) => ({ dispatchInitialValue, ...props }) =>
      React.createElement(Form, { ...props, dispatchInitialValue: dispatchInitialValue && props.required }),
    // Folded: every answer has the same four and a few more.
    headers: (Headers) => (props) =>
      React.createElement(
        'details',
        { className: 'headers-fold' },
        React.createElement('summary', null, 'Headers'),
        React.createElement(Headers, props),
      ),
  },
  statePlugins: {
    auth: {
      wrapSelectors: {
        // Login sets the cookie, and no script could.
        definitionsToAuthorize: (select) => (...given) =>
          select(...given)?.filter((scheme) => !scheme.has('cookieAuth')),
      },
    },
  },
});

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#explorer',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [adjustments],
});
`;

export const STYLE = `html {
  scroll-padding-top: 3rem;
}

body {
  margin: 0;
}

nav {
  background: Canvas;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent);
  display: flex;
  font: 600 0.9rem sans-serif;
  overflow-x: auto;
  padding: 0 calc(max(0px, (100vw - 1460px) / 2) + 0.6rem);
  position: sticky;
  top: 0;
  z-index: 1;
}

nav a {
  color: inherit;
  padding: 0.75rem 0.65rem;
  text-decoration: none;
}

nav a:hover,
nav a:focus-visible {
  text-decoration: underline;
}

noscript {
  display: block;
  font: 1rem sans-serif;
  padding: 1.25rem;
}

.dark-mode nav {
  background: #1c2022;
  color: #e4e6e6;
}

.swagger-ui .info {
  margin: 2rem 0;
}

.swagger-ui .info .renderedMarkdown,
.swagger-ui .opblock-description-wrapper .renderedMarkdown {
  line-height: 1.5;
  max-width: 46rem;
}

.swagger-ui .auth-btn-wrapper {
  justify-content: flex-start;
}

/* There is one server: nothing to choose. Links are for programs: here nobody can press them, and they fill a column. */
.swagger-ui .scheme-container .schemes > .schemes-server-container,
.swagger-ui .response-col_links {
  display: none;
}

/* It shows samples in fields that it has emptied. */
.swagger-ui .btn.reset {
  display: none;
}

.swagger-ui table tbody tr td.parameters-col_name {
  padding-right: 1rem;
}

.swagger-ui .headers-fold {
  font: 0.8rem sans-serif;
  margin: 0.75rem 0;
}

.swagger-ui .headers-fold summary {
  cursor: pointer;
}

.swagger-ui .headers__title {
  display: none;
}

.swagger-ui .headers-fold td,
.swagger-ui .headers-fold th {
  padding: 0.3rem 0.75rem 0.3rem 0;
  vertical-align: top;
}

.dark-mode .swagger-ui .headers-fold,
.dark-mode .swagger-ui .headers-fold td {
  color: #e4e6e6;
}

@media (max-width: 40rem) {
  .swagger-ui .wrapper {
    padding-inline: 0.5rem;
  }

  /* One under the other: two columns leave neither enough room. */
  .swagger-ui .responses-table > thead,
  .swagger-ui .parameters > thead {
    display: none;
  }

  .swagger-ui .responses-table .response,
  .swagger-ui .responses-table .response > td,
  .swagger-ui .parameters,
  .swagger-ui .parameters > tbody,
  .swagger-ui .parameters > tbody > tr,
  .swagger-ui .parameters > tbody > tr > td,
  .swagger-ui .table-container tr[data-property-name],
  .swagger-ui .table-container tr[data-property-name] > td {
    display: block;
    max-width: none;
    width: auto;
  }

  .swagger-ui .responses-table .response > .response-col_status {
    font-weight: 700;
    padding: 1rem 0 0.25rem;
  }

  .swagger-ui .responses-table .response > td {
    padding-inline: 0;
  }

  .swagger-ui .parameters > tbody > tr > td,
  .swagger-ui .table-container tr[data-property-name] > td {
    padding-block: 0.25rem;
  }

  .swagger-ui .parameters-col_description input {
    box-sizing: border-box;
  }

  /* Room for the buttons that lie over the end of an answer. */
  .swagger-ui .live-responses-table .highlight-code code {
    display: block;
    padding-bottom: 2.5rem;
  }
}
`;
