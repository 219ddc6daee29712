import { CorrectThePolicy, compile, parseYaml, type Vocabulary } from '@vigil/policy';
import { BOTBOX, migrateBotbox, readBotbox } from './botbox.ts';
import { ADR_110, readAdr110 } from './coditect.ts';
import { GASCITY, readGascity } from './gascity.ts';
import { OMNICLAUDE, readOmniclaude } from './omniclaude.ts';
import { PolicyText } from './policy-text.ts';
import { apply, type Reading, type Settings, settingOf, type Unmapped } from './settings.ts';

export type ImportKind = 'adr-110' | 'botbox' | 'gascity' | 'omniclaude';

/** `yaml`: a complete policy document. `unmapped`: the settings of the source that it lacks, and why. */
export type Imported = { readonly yaml: string; readonly unmapped: readonly Unmapped[] };

type Source = { readonly preset: string; readonly what: string; readonly read: Reading; readonly settings: Settings };

const SOURCES: Readonly<Record<ImportKind, Source>> = {
  'adr-110': {
    preset: 'coditect',
    what: "CODITECT's YAML, sections 2 and 7",
    read: readAdr110,
    settings: ADR_110,
  },
  botbox: { preset: 'botbox', what: '.botbox.json, agents.health', read: readBotbox, settings: BOTBOX },
  gascity: { preset: 'gascity', what: "gascity's TOML, [daemon]", read: readGascity, settings: GASCITY },
  omniclaude: { preset: 'omniclaude', what: "omniclaude's switches", read: readOmniclaude, settings: OMNICLAUDE },
};

export const IMPORT_KINDS: readonly ImportKind[] = Object.keys(SOURCES) as ImportKind[];

/**
 * Functions that add defaults to a source's own file, by kind. `source` names the file. They throw CorrectThePolicy.
 */
export const MIGRATIONS: Readonly<Partial<Record<ImportKind, (text: string, source: string) => string>>> = {
  botbox: migrateBotbox,
};

/**
 * A source's own file, unchanged, as a policy: its preset with the file's figures. Throws CorrectThePolicy with every
 * mistake, also those of the resulting policy. `source` names the file.
 */
export const importPolicy = (kind: ImportKind, text: string, source: string, vocabulary: Vocabulary): Imported => {
  const { preset, what, read, settings } = SOURCES[kind];
  const mistakes: string[] = [];
  const given = read(text, mistakes);
  if (mistakes.length === 0 && !given.some(({ key }) => settingOf(settings, key)))
    mistakes.push(`document: has no known setting: give ${what}`);
  const policy = new PolicyText(preset);
  const unmapped = apply(settings, given, policy, mistakes);
  const heading = `From ${source} (${what}): its lines name the key. All others are those of the preset ${preset}.`;
  const yaml = policy.text(heading);
  mistakes.push(...refusals(yaml, policy, vocabulary));
  if (mistakes.length > 0) throw new CorrectThePolicy(source, mistakes);
  return { yaml, unmapped };
};

/** The mistakes of figures that the source accepts and a policy does not, each with its source key. */
const refusals = (yaml: string, policy: PolicyText, vocabulary: Vocabulary): string[] => {
  try {
    compile(parseYaml(yaml, 'policy'), 'policy', vocabulary);
    return [];
  } catch (error) {
    if (!(error instanceof CorrectThePolicy)) throw error;
    return error.mistakes.map((mistake) => {
      const from = policy.originOf(mistake);
      return from === null ? mistake : `${from} becomes ${mistake}`;
    });
  }
};
