/**
 * Thrown in a transaction that needs something from outside the database, for which no transaction may wait: it is rolled
 * back for it. Every kind of question is a class of its own, so that one that runs within another is not taken for it.
 */
export abstract class AnswerNeededError<Question> extends Error {
  readonly question: Question
  constructor(question: Question) {
    super('The transaction needs an answer from outside the database')
    this.name = new.target.name
    this.question = question
  }
}

/** Runs `work` without an answer; if it needs one of this kind, `again` asks, with no transaction open, and runs it once more. */
export async function askingOutside<Question, Result>(
  Needed: new (question: Question) => AnswerNeededError<Question>,
  work: (answer: null) => Promise<Result>,
  again: (question: Question) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(null)
  } catch (error) {
    if (!(error instanceof Needed)) throw error
    return again(error.question)
  }
}
