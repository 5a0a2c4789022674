import { AgentRowElement } from './agentRow.ts';
import { AgoElement } from './agoElement.ts';
import { BindingHealthPage } from './bindingHealthPage.ts';
import { buttonStyles } from './buttonStyles.ts';
import { DetailsElement } from './detailsElement.ts';
import { detailsStyles } from './detailsStyles.ts';
import { connectHost } from './host.ts';
import { MatrixElement } from './matrixElement.ts';
import { matrixStyles } from './matrixStyles.ts';
import { pageStyles } from './styles.ts';

// Constructed sheets need no 'unsafe-inline' in the policy of the page.
for (const { styleSheet } of [pageStyles, buttonStyles, matrixStyles, detailsStyles]) {
  if (styleSheet !== undefined) document.adoptedStyleSheets.push(styleSheet);
}

customElements.define(AgoElement.tag, AgoElement);
customElements.define(AgentRowElement.tag, AgentRowElement);
customElements.define(DetailsElement.tag, DetailsElement);
customElements.define(MatrixElement.tag, MatrixElement);
customElements.define(BindingHealthPage.tag, BindingHealthPage);

const page = document.querySelector<BindingHealthPage>(BindingHealthPage.tag) ?? new BindingHealthPage();
if (!page.isConnected) (document.querySelector('main') ?? document.body).append(page);
page.connect(connectHost());
