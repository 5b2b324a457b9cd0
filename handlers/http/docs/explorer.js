const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const adjustments = ({ React }) => ({
  // Empty fields of a form are not sent: no field of this API may be empty.
  components: { ParameterIncludeEmpty: () => null },
  wrapComponents: {
    // Optional fields start empty. Prefilled, a change of the name would also change the password to the sample.
    JsonSchemaForm:
      (Form) =>
      ({ dispatchInitialValue, ...props }) =>
        React.createElement(Form, { ...props, dispatchInitialValue: dispatchInitialValue && props.required }),
    // Folded, since every response has the same four headers and a few more.
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
        // Only login can set the cookie.
        definitionsToAuthorize:
          (select) =>
          (...given) =>
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
