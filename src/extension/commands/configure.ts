import * as vscode from 'vscode';
import type { AgentConfiguration } from '../../core/fleet/configuration.ts';
import { type ConfigurationField, configurationFields } from '../configurationFields.ts';
import type { CommandContext } from './commandContext.ts';
import { chooseAgent } from './interaction.ts';

/** Shows the fields of an agent's configuration and changes one after another, until the person closes the list. */
export async function configureAgent(context: CommandContext, argument: unknown): Promise<void> {
  const row = await chooseAgent(context, argument, { title: 'Configure which agent?' });
  if (row === undefined) return;
  const { name } = row;
  for (;;) {
    const agent = context.presenter.state.agents[name];
    if (agent === undefined) return;
    const items = configurationFields.map((field) => {
      const present = (field.summary ?? field.present)(agent.configuration);
      return { label: field.label, description: present === '' ? 'not set' : present, field };
    });
    const placeHolder = agent.relaunch === undefined ? 'Choose what to change' : 'Changed; some of it needs a relaunch';
    const picked = await vscode.window.showQuickPick(items, { title: `Configure ${name}`, placeHolder });
    if (picked === undefined) return;
    const text = await ask(picked.field, agent.configuration, name);
    if (text === undefined) continue;
    const change = picked.field.read(text, agent.configuration);
    if (typeof change !== 'string') await context.client.request({ kind: 'configure agent', name, change });
  }
}

async function ask(
  field: ConfigurationField,
  configuration: AgentConfiguration,
  name: string,
): Promise<string | undefined> {
  const title = `${field.label} of ${name}`;
  const present = field.present(configuration);
  if (field.words !== undefined) {
    const on = present.split(' ');
    const items = field.words(configuration).map((label) => ({ label, picked: on.includes(label) }));
    const chosen = await vscode.window.showQuickPick(items, { title, placeHolder: field.hint, canPickMany: true });
    return chosen?.map(({ label }) => label).join(' ');
  }
  if (field.choices === undefined) {
    return vscode.window.showInputBox({
      title,
      prompt: field.hint,
      value: present,
      validateInput: (text) => {
        const reading = field.read(text, configuration);
        return typeof reading === 'string' ? reading : undefined;
      },
    });
  }
  const items = field.choices.map((value) => ({
    label: value === '' ? 'not set' : value,
    ...(value === present && { description: 'now' }),
    value,
  }));
  return (await vscode.window.showQuickPick(items, { title, placeHolder: field.hint }))?.value;
}
