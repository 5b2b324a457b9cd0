import { LOGGED_IN } from './session.js';

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
          'Logged in as ',
          h('strong', null, username),
          sessionSelectors.usesCookie() && ' by cookie',
        ),
      username && h('button', { type: 'button', className: 'btn', onClick: () => sessionActions.logOut() }, 'Log out'),
      h(getComponent('AuthorizeBtnContainer', true)),
    );
  };

  /**
   * The title and the description of the API: its first section is open for visitors who have not logged in, the others are the
   * manual. Links to its sections open it.
   */
  const Introduction = ({ getComponent, specSelectors }) => {
    const manual = React.useRef();
    const [isNewcomer] = React.useState(!localStorage.getItem(LOGGED_IN));
    const info = specSelectors.info();
    const Markdown = getComponent('Markdown', true);
    const [summary, start, ...sections] = info.get('description').split(/^## /m);
    React.useEffect(() => {
      for (const heading of manual.current.querySelectorAll('h2')) heading.id = sectionId(heading.textContent);
      const showTarget = () => {
        const target = document.getElementById(location.hash.slice(1));
        if (manual.current.contains(target)) manual.current.open = true;
        // Opens an operation.
        target?.querySelector('.opblock-summary-control[aria-expanded=false]')?.click();
        target?.scrollIntoView();
      };
      showTarget();
      addEventListener('hashchange', showTarget);
    }, []);
    return h(
      'section',
      { className: 'info' },
      h('h1', { className: 'title' }, `${info.get('title')} ${info.get('version')}`),
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
      h(Markdown, { source: summary }),
      h(
        'details',
        { id: sectionId(titleOf(start)), open: isNewcomer },
        h('summary', null, titleOf(start)),
        h(Markdown, { source: start.slice(titleOf(start).length) }),
      ),
      h(
        'details',
        { className: 'manual', ref: manual },
        h('summary', null, 'About this API'),
        h(
          'div',
          null,
          h(
            'nav',
            { 'aria-label': 'Contents' },
            ...sections.map(titleOf).map((title) => h('a', { key: title, href: `#${sectionId(title)}` }, title)),
          ),
          h(Markdown, { source: sections.map((section) => `## ${section}`).join('') }),
        ),
      ),
    );
  };

  const Explorer = (system) => {
    const { getComponent, layoutSelectors, specSelectors } = system;
    if (!specSelectors.specStr()) {
      const failed = specSelectors.loadingStatus() === 'failed';
      return h('p', { className: 'notice' }, failed ? 'The contract cannot be loaded.' : 'Loading the explorer…');
    }
    const noMatch = specSelectors.taggedOperations().size === 0;
    return h(
      'div',
      { className: 'swagger-ui', onClickCapture: openInThisTab },
      h(Bar, system),
      h(
        'main',
        { className: 'wrapper' },
        h(Introduction, system),
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

  const withoutLabel =
    (Component) =>
    ({ 'aria-label': _, ...props }) =>
      h(Component, props);

  return {
    components: { Explorer },
    fn: { opsFilter: filterOperations },
    wrapComponents: {
      // In the dialog of Swagger UI, the accessible names of buttons and of the field differ from their texts, and one button has
      // no name.
      Button: withoutLabel,
      Input: withoutLabel,
      CloseIcon: () => () => h('span', { role: 'img', 'aria-label': 'Close' }, '✕'),
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
      layout: {
        wrapActions: {
          // Swagger UI would scroll a linked operation behind the bar. The browser respects the `scroll-padding-top` of the page.
          scrollToElement: () => (element) => element.scrollIntoView(),
          // It would also replace a fragment that is the id of an element.
          parseDeepLinkHash: (parse) => (hash) => hash.startsWith('#/') && parse(hash),
        },
      },
    },
  };
};

/** Swagger UI gives links in Markdown a new tab, also those to sections of the page. */
const openInThisTab = ({ target }) => target.closest('a[href^="#"]')?.removeAttribute('target');

const titleOf = (section) => section.slice(0, section.indexOf('\n'));

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
