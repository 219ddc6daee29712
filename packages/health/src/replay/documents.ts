import { ASSIGNMENT, type Assignment, type CompiledPolicy, readAssignment, republished } from '@vigil/policy';
import { type Policies, policiesOf } from '../judgement/policies.ts';
import { VOCABULARY } from '../vocabulary.ts';

/** A published policy or assignment. `document`: canonical JSON. */
export type PublishedDocument = { readonly name: string; readonly hash: string; readonly document: string };

/** A document that a mark of rules names. */
type Named = { readonly name: string; readonly hash: string };

/** The documents that a mark of rules names, such as `[{"name": "vigil", "hash": "…"}]`. */
const namedIn = (rules: string): readonly Named[] => JSON.parse(rules) as readonly Named[];

/** What is judged instead of the recorded policies: a policy takes the place of the one of its name, or of all. */
export type Substitute = { readonly policy: CompiledPolicy; readonly insteadOf: string | 'all' };

/** A policy that the recorded decisions follow is not published, or this version of Vigil reads it differently. */
export class UnknownRules extends Error {
  override readonly name = 'UnknownRules';
}

/** The policies of the marks of a log, by the published documents. */
export class Documents {
  readonly #byHash = new Map<string, PublishedDocument>();
  readonly #policies = new Map<string, Policies>();

  constructor(documents: Iterable<PublishedDocument>) {
    for (const one of documents) this.#byHash.set(one.hash, one);
  }

  get all(): readonly PublishedDocument[] {
    return [...this.#byHash.values()];
  }

  /** Throws UnknownRules where no recorded policy has the name that is to be replaced. */
  requireRecorded({ insteadOf }: Substitute): void {
    const names = new Set(this.all.map(({ name }) => name).filter((name) => name !== ASSIGNMENT));
    if (insteadOf === 'all' || names.has(insteadOf)) return;
    throw new UnknownRules(
      `no recorded policy is called ${insteadOf}: give one of ${[...names].toSorted().join(', ')}, or leave it out`,
    );
  }

  /** The recorded policies. Throws UnknownRules. */
  policiesOf(rules: string): Policies {
    const known = this.#policies.get(rules);
    if (known !== undefined) return known;
    const { policies, assignment } = this.#read(rules);
    const made = policiesOf(policies, assignment);
    this.#policies.set(rules, made);
    return made;
  }

  /** The recorded policies with another one. Throws UnknownRules. */
  withSubstitute(rules: string, { policy, insteadOf }: Substitute): Policies {
    if (insteadOf === 'all') return policiesOf([policy], policy.name);
    const { policies, assignment } = this.#read(rules);
    const others = policies.filter(({ name }) => name !== insteadOf);
    // The assignment names the policy that is replaced.
    return policiesOf([...others, { ...policy, name: insteadOf }], assignment);
  }

  #read(rules: string): { readonly policies: readonly CompiledPolicy[]; readonly assignment: Assignment } {
    const named = namedIn(rules);
    const assigned = named.find(({ name }) => name === ASSIGNMENT);
    if (assigned === undefined) throw new UnknownRules(`the recorded rules name no ${ASSIGNMENT}: ${rules}`);
    const policies = named.filter((one) => one !== assigned).map((one) => this.#policy(one));
    const assignment = readAssignment(JSON.parse(this.#document(assigned).document), ASSIGNMENT);
    return { policies, assignment };
  }

  #policy(named: Named): CompiledPolicy {
    const { document } = this.#document(named);
    try {
      return republished(document, VOCABULARY);
    } catch (cause) {
      throw new UnknownRules(
        `this version of Vigil cannot read the recorded policy ${named.name} (${named.hash}): ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  #document({ name, hash }: Named): PublishedDocument {
    const found = this.#byHash.get(hash);
    if (found !== undefined) return found;
    throw new UnknownRules(`the recorded policy ${name} (${hash}) is not published: its document is unknown`);
  }
}
