import { AgentCard } from './agentCard.ts';
import { AgoElement } from './agoElement.ts';
import { BindingHealthPage } from './bindingHealthPage.ts';
import { connectHost } from './host.ts';
import { pageStyles } from './styles.ts';

// Constructed sheets need no 'unsafe-inline' in the policy of the page.
const { styleSheet } = pageStyles;
if (styleSheet !== undefined) document.adoptedStyleSheets.push(styleSheet);

customElements.define(AgoElement.tag, AgoElement);
customElements.define(AgentCard.tag, AgentCard);
customElements.define(BindingHealthPage.tag, BindingHealthPage);

const page = document.querySelector<BindingHealthPage>(BindingHealthPage.tag) ?? new BindingHealthPage();
if (!page.isConnected) (document.querySelector('main') ?? document.body).append(page);
page.connect(connectHost());
