/** Fields whose texts may be longer than this get a text area. */
const LONG_TEXT = 500;

/** A plugin of Swagger UI: the fields of requests. */
export const forms = ({ React }) => {
  const h = React.createElement;
  return {
    components: {
      // Empty fields of a form are not sent: no field of this API may be empty.
      ParameterIncludeEmpty: () => null,
      // Forms are always open. The buttons would close them, or fill in samples for optional fields.
      TryItOutButton: () => null,
    },
    wrapComponents: {
      // Optional fields start empty. If they were prefilled, changing the name would also change the password to the sample.
      JsonSchemaForm:
        (Form) =>
        ({ dispatchInitialValue, description: name, ...props }) => {
          const placeholder = props.schema?.get('default') ?? name;
          const prefilled = dispatchInitialValue && props.required;
          return h(
            'label',
            { className: 'field' },
            h('span', { className: 'visually-hidden' }, name),
            h(Form, { ...props, description: placeholder, dispatchInitialValue: prefilled }),
          );
        },
      JsonSchema_string: (Text) => (props) =>
        props.schema?.get('maxLength') > LONG_TEXT
          ? h('textarea', { rows: 4, value: props.value ?? '', onChange: ({ target }) => props.onChange(target.value) })
          : h(Text, props),
      TextArea: (TextArea) => (props) => h(TextArea, { 'aria-label': 'Request body', ...props }),
      ExamplesSelect: (Select) => (props) =>
        h(
          'label',
          { className: 'field examples' },
          h('span', null, 'Example '),
          h(Select, { ...props, showLabels: false }),
        ),
    },
    statePlugins: {
      spec: {
        wrapSelectors: {
          // Optional parameters start empty, too: the sample `If-None-Match` would return a 304 without an image.
          parameterWithMetaByIdentity:
            (select) =>
            (_, ...given) => {
              const parameter = select(...given);
              const isSet = !parameter || parameter.get('required') || parameter.has('value');
              return isSet ? parameter : parameter.set('value', null);
            },
        },
      },
    },
  };
};
