const NOT_LOGGED_IN =
  'You are not logged in. Execute [POST /auth/login](#operations-auth-login), or paste a token under Authorize.';

/** A plugin for Swagger UI that changes how responses are shown. */
export const responses = ({ React }) => {
  const h = React.createElement;

  /** The ids of the requests to whose responses the page has scrolled. */
  const shown = new Set();

  function scrollOnce(element) {
    const id = element?.dataset.id;
    if (!id || shown.has(id)) return;
    shown.add(id);
    element.scrollIntoView({ block: 'nearest' });
  }

  return {
    wrapComponents: {
      // Scrolls to a new response. Below it, the request is folded on a phone, because the token in it fills the screen.
      liveResponse: (LiveResponse) => (props) => {
        const id = props.response.getIn(['headers', 'x-request-id']);
        const needsLogin = ['missing_credentials', 'invalid_token'].includes(props.response.getIn(['body', 'code']));
        return h(
          'div',
          { key: id, className: 'live-response', 'data-id': id, ref: scrollOnce },
          needsLogin && h(props.getComponent('Markdown', true), { source: NOT_LOGGED_IN }),
          h(LiveResponse, props),
        );
      },
      curl: (Curl) => (props) =>
        h('details', { open: matchMedia('(min-width: 40rem)').matches }, h('summary', null, 'Request'), h(Curl, props)),
      // Folds error responses. Rendering their content only when it is visible opens operations faster.
      response: (Response) =>
        function FoldedResponse(props) {
          const [open, setOpen] = React.useState(false);
          const { code, response } = props;
          const row = h(Response, props);
          if (/^[23]/.test(code)) return row;
          const description = response.get('description').replaceAll('`', '');
          const details = h(
            'details',
            { onToggle: ({ currentTarget }) => setOpen(currentTarget.open) },
            h('summary', null, `${code} ${description}`),
            open && h('table', null, h('tbody', null, row)),
          );
          return h('tr', { className: 'folded' }, h('td', { colSpan: 2 }, details));
        },
      // `tabIndex` lets keyboard users scroll the code. Swagger UI limits the height of this class.
      SyntaxHighlighter: (Code) => (props) => h('div', { className: 'microlight', tabIndex: 0 }, h(Code, props)),
      // Collapsed, because most headers are the same in every response.
      headers: (Headers) => (props) => h('details', null, h('summary', null, 'Headers'), h(Headers, props)),
    },
  };
};
