/** A string field gets a text area if its maximum length exceeds this number of characters. */
const MAX_SINGLE_LINE_LENGTH = 500;

/** The types of images that the section Images of the manual lists. */
const IMAGE_TYPES = 'image/jpeg,image/png,image/gif,image/webp,image/avif';

/** Returns the last part of a path: the `image` of a post is a path, but the parameter is a file name. */
const fileNameIn = (text) => text?.slice(text.lastIndexOf('/') + 1);

/** A plugin for Swagger UI that changes the fields of requests. */
export const forms = ({ React }) => {
  const h = React.createElement;
  return {
    components: {
      // Hides the option to send empty fields, because no field of this API may be empty.
      ParameterIncludeEmpty: () => null,
      // Forms are always open. These buttons would close them, or fill in samples for optional fields.
      TryItOutButton: () => null,
    },
    wrapComponents: {
      // Optional fields start empty. If they had samples, a user who changes the name would also set the password to the
      // sample. Swagger UI passes the name of a field as its description.
      JsonSchemaForm:
        (Form) =>
        ({ dispatchInitialValue, description: name, ...props }) => {
          const placeholder = props.schema?.get('default') ?? name;
          const prefilled = dispatchInitialValue && props.required;
          const onChange = (value) => props.onChange(name === 'filename' ? fileNameIn(value) : value);
          return h(
            'label',
            { className: 'field' },
            h('span', null, name),
            h(Form, { ...props, description: placeholder, dispatchInitialValue: prefilled, onChange }),
          );
        },
      JsonSchema_string:
        (Text) =>
        ({ onChange, ...props }) => {
          if (props.schema?.get('format') === 'binary')
            return h('input', {
              type: 'file',
              accept: IMAGE_TYPES,
              onChange: ({ target }) => onChange(target.files[0]),
            });
          return props.schema?.get('maxLength') > MAX_SINGLE_LINE_LENGTH
            ? h('textarea', { value: props.value ?? '', onChange: ({ target }) => onChange(target.value) })
            : h(Text, { ...props, onChange });
        },
      // Swagger UI disables the button during a request, which takes the focus from it.
      execute:
        (Execute) =>
        ({ disabled, specActions, ...props }) =>
          h(Execute, { ...props, specActions: disabled ? { ...specActions, execute() {} } : specActions }),
      TextArea: (TextArea) => (props) => h(TextArea, { 'aria-label': 'Request body', ...props }),
      ExamplesSelect: (Select) => (props) => h('label', null, 'Example ', h(Select, { ...props, showLabels: false })),
    },
    statePlugins: {
      spec: {
        wrapSelectors: {
          // Optional parameters start empty too. With the sample of `If-None-Match`, the response would be a 304 without an
          // image.
          parameterWithMetaByIdentity:
            (select) =>
            (_, ...args) => {
              const parameter = select(...args);
              const isSet = !parameter || parameter.get('required') || parameter.has('value');
              return isSet ? parameter : parameter.set('value', null);
            },
        },
      },
    },
  };
};
