/** A plugin for Swagger UI that changes how documented responses are shown. */
export const responses = ({ React }) => {
  const h = React.createElement;

  /** A table row for an error response, which the user can expand. */
  const FoldedResponse = ({ Response, ...props }) => {
    const [open, setOpen] = React.useState(false);
    const { code, response } = props;
    const toggle = { type: 'button', 'aria-expanded': open, onClick: () => setOpen(!open) };
    const description = response.get('description').replaceAll('`', '');
    return h(
      React.Fragment,
      null,
      h(
        'tr',
        { className: 'response folded' },
        h('td', { className: 'response-col_status' }, code),
        h('td', { className: 'response-col_description' }, h('button', toggle, description)),
      ),
      open && h(Response, props),
    );
  };

  return {
    wrapComponents: {
      response: (Response) => (props) =>
        /^[45]/.test(props.code) ? h(FoldedResponse, { Response, ...props }) : h(Response, props),
      // `tabIndex` lets keyboard users scroll the code.
      SyntaxHighlighter: (Code) => (props) => h('div', { className: 'code', tabIndex: 0 }, h(Code, props)),
      // Collapsed, because most headers are the same in every response.
      headers: (Headers) => (props) =>
        h('details', { className: 'headers-fold' }, h('summary', null, 'Headers'), h(Headers, props)),
    },
  };
};
