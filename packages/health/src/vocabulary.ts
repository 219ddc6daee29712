import type { Vocabulary } from '@vigil/policy';
import { EXEMPTIONS } from './judgement/exemptions.ts';
import { SIGNALS } from './signals/all.ts';

/** The signals and exemptions that policies may name. packages/policy checks names and settings with it. */
export const VOCABULARY: Vocabulary = { signals: SIGNALS, exemptions: EXEMPTIONS };
