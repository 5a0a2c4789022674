import * as z from 'zod/mini';

/** Agent names as they may arrive from outside; the same rule as `core/fleet/names`. */
export const nameSchema = z.string().check(z.regex(/^[a-z0-9][a-z0-9_-]{0,31}$/));

/** Ids of prompts are chosen by senders, and name files. */
export const promptIdSchema = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/));

/** Milliseconds since the epoch. */
export const timeSchema = z.number();

export const textSchema = z.string().check(z.maxLength(4_000));

/** Compile-time proof that a schema gives exactly the core type: a field forgotten on one side does not compile. */
export type Exactly<Schema extends z.core.$ZodType, Core> = Equal<DeepReadonly<z.infer<Schema>>, DeepReadonly<Core>>;

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type DeepReadonly<T> = T extends (infer Item)[] | readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
