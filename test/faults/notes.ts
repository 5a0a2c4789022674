import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

/** What a stand-in did: it started, ended because it was asked to, or took a line that was submitted. */
const noteSchema = z.object({
  what: z.enum(['starts', 'ends', 'submits']),
  agent: z.string(),
  launch: z.string(),
  session: z.string(),
  pid: z.int(),
  text: z.string(),
});

export type Note = z.infer<typeof noteSchema>;

/** All that the stand-ins of a fleet have noted. */
export function readNotes(file: string): readonly Note[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => noteSchema.parse(JSON.parse(line)));
}
