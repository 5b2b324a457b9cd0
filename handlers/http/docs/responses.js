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

  /** The ids of the requests to whose responses the page has scrolled. */
  const shown = new Set();

  return {
    wrapComponents: {
      // Scrolls to a new response. Below it, the request is folded on a phone, because the token in it fills the screen.
      liveResponse: (LiveResponse) =>
        function ScrolledResponse(props) {
          const element = React.useRef();
          // Swagger UI creates `response` again for every change of its state.
          const id = props.response.getIn(['headers', 'x-request-id']);
          React.useEffect(() => {
            if (shown.has(id)) return;
            shown.add(id);
            element.current.scrollIntoView({ block: 'nearest' });
          }, [id]);
          return h('div', { className: 'live-response', ref: element }, h(LiveResponse, props));
        },
      curl: (Curl) => (props) =>
        h(
          'details',
          { className: 'request-fold', open: matchMedia('(min-width: 40rem)').matches },
          h('summary', null, 'Request'),
          h(Curl, props),
        ),
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
