/**
 * Thrown in a transaction that needs an answer from outside the database. No transaction may wait for one, so it is rolled
 * back. Every type of question is a class of its own, so that a nested question is not mistaken for an outer one.
 */
export abstract class AnswerNeededError<Question> extends Error {
  readonly question: Question
  constructor(question: Question) {
    super('The transaction needs an answer from outside the database')
    this.name = new.target.name
    this.question = question
  }
}

/**
 * Runs `work` without an answer. If it throws `Needed`, `again` gets the answer while no transaction is open, and runs the work
 * once more.
 */
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
