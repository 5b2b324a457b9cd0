/**
 * A plugin for Swagger UI that defines the layout: a bar that stays in view, the description, the operations and the
 * schemas.
 */
export const layout = ({ React }) => {
  const h = React.createElement;

  const Bar = ({ getComponent, layoutActions, layoutSelectors, sessionActions, sessionSelectors, specSelectors }) => {
    const username = sessionSelectors.username();
    return h(
      'header',
      { className: 'bar' },
      h(
        'nav',
        { 'aria-label': 'Operations' },
        ...specSelectors
          .taggedOperations()
          .keySeq()
          .map((tag) => h('a', { key: tag, href: `#operations-tag-${tag}` }, tag)),
        h('a', { href: '#schemas' }, 'schemas'),
      ),
      h('input', {
        type: 'search',
        className: 'filter',
        'aria-label': 'Filter operations',
        placeholder: 'Filter',
        value: layoutSelectors.currentFilter() || '',
        onChange({ target }) {
          layoutActions.updateFilter(target.value);
          // Otherwise the hits may be above the visible part of a page that has become shorter.
          requestAnimationFrame(() => document.querySelector('#operations')?.scrollIntoView());
        },
      }),
      username &&
        h(
          'span',
          { className: 'user' },
          h('span', null, 'Logged in as '),
          h('strong', null, username),
          sessionSelectors.usesCookie() && h('span', null, ' by cookie'),
        ),
      username && h('button', { type: 'button', className: 'btn', onClick: () => sessionActions.logOut() }, 'Log out'),
      h(getComponent('AuthorizeBtnContainer', true)),
    );
  };

  const Introduction = ({ getComponent, specSelectors }) => {
    const info = specSelectors.info();
    return h(
      'section',
      { className: 'introduction' },
      h('h1', null, info.get('title'), ' ', h('small', null, info.get('version'))),
      h(
        'p',
        null,
        info.get('summary'),
        ' The contract: ',
        h('a', { href: '/openapi.yaml' }, 'YAML'),
        ', ',
        h('a', { href: '/openapi.json' }, 'JSON'),
        '.',
      ),
      h(getComponent('ExplorerManual', true)),
    );
  };

  /** The description of the API, with its contents. Links to its sections open it. */
  const Manual = ({ getComponent, specSelectors }) => {
    const details = React.useRef();
    const source = specSelectors.info().get('description');
    React.useEffect(() => {
      const showSection = () => {
        const headings = [...details.current.querySelectorAll('h2')];
        const heading = headings.find(({ textContent }) => `#${sectionId(textContent)}` === location.hash);
        if (!heading) return;
        details.current.open = true;
        heading.scrollIntoView();
      };
      showSection();
      addEventListener('hashchange', showSection);
      return () => removeEventListener('hashchange', showSection);
    }, []);
    return h(
      'details',
      { className: 'manual', ref: details },
      h('summary', null, 'About this API'),
      h(
        'div',
        null,
        h(
          'nav',
          { 'aria-label': 'Contents' },
          ...sectionTitles(source).map((title) => h('a', { key: title, href: `#${sectionId(title)}` }, title)),
        ),
        h(getComponent('Markdown', true), { source }),
      ),
    );
  };

  const Explorer = ({ getComponent, layoutSelectors, specSelectors }) => {
    if (!specSelectors.specStr()) {
      const failed = specSelectors.loadingStatus() === 'failed';
      return h('p', { className: 'notice' }, failed ? 'The contract cannot be loaded.' : 'Loading the explorer…');
    }
    const noMatch = specSelectors.taggedOperations().size === 0;
    return h(
      'div',
      { className: 'swagger-ui', onClickCapture: openInThisTab },
      h(getComponent('ExplorerBar', true)),
      h(
        'main',
        { className: 'wrapper' },
        h(getComponent('ExplorerIntroduction', true)),
        h(getComponent('errors', true)),
        h(
          'div',
          { id: 'operations' },
          noMatch
            ? h('p', { className: 'notice' }, `No operation matches “${layoutSelectors.currentFilter()}”.`)
            : h(getComponent('operations', true)),
        ),
        h('div', { id: 'schemas' }, h(getComponent('Models', true))),
      ),
    );
  };

  return {
    components: { Explorer, ExplorerBar: Bar, ExplorerIntroduction: Introduction, ExplorerManual: Manual },
    fn: { opsFilter: filterOperations },
    wrapComponents: {
      // In the dialog of Swagger UI, the accessible names of buttons differ from their texts, and one button has no name.
      Button:
        (Button) =>
        ({ 'aria-label': _, ...props }) =>
          h(Button, props),
      CloseIcon: (Icon) => (props) =>
        h(React.Fragment, null, h('span', { className: 'visually-hidden' }, 'Close'), h(Icon, props)),
      // Descriptions of operations and fields refer to sections of the manual by their titles.
      Markdown: (Markdown) =>
        function LinkedMarkdown({ source, ...props }) {
          const linked = source?.replace(
            /\bsection ([A-Z]\w+)/g,
            (_, title) => `section [${title}](#${sectionId(title)})`,
          );
          return h(Markdown, { ...props, source: linked });
        },
      // The path is not a link, because it is inside a button, which must not contain a link.
      OperationSummaryPath: (Path) => (props) =>
        h(Path, { ...props, operationProps: props.operationProps.set('isDeepLinkingEnabled', false) }),
    },
    statePlugins: {
      // Swagger UI would scroll a linked operation behind the bar. The browser respects the `scroll-padding-top` of the page.
      layout: { wrapActions: { scrollToElement: () => (element) => element.scrollIntoView() } },
    },
  };
};

/** Swagger UI gives links in Markdown a new tab, also those to sections of the page. */
const openInThisTab = ({ target }) => target.closest('a[href^="#"]')?.removeAttribute('target');

const sectionTitles = (markdown) => [...markdown.matchAll(/^## (.+)$/gm)].map(([, title]) => title);

const sectionId = (title) => `section-${title.toLowerCase().replaceAll(' ', '-')}`;

/** Returns the operations whose tag, method, path, id or summary contains a text. Swagger UI itself filters tags only. */
function filterOperations(tags, text) {
  const wanted = text.trim().toLowerCase();
  return tags
    .map((group, tag) =>
      group.update('operations', (operations) =>
        operations.filter((item) => {
          const { operationId, summary } = item.get('operation').toObject();
          const texts = [tag, `${item.get('method')} ${item.get('path')}`, operationId, summary];
          return texts.some((each) => each?.toLowerCase().includes(wanted));
        }),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
}
