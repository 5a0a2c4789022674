import { BowlineError, messageOf } from '../base/errors.ts';

/** What makes reports. Rejects when an update has taken its file away since the window was opened. */
export async function loadReports() {
  try {
    return await import('./reports.ts');
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n'); // Node tells who required what below
    const sentence = `A part of Bowline could not be loaded: ${reason}. Reload the window; if that does not help, install Bowline again.`;
    throw new BowlineError('internal', sentence, { cause: error });
  }
}
