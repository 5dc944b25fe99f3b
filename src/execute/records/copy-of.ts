/** Objects with some properties changed, such as a repository in a transaction. */

/** Copies an object of the same class. No method of the class: a subclass may have one of any name. */
export function copyOf<R extends object>(object: R, changed: object): R {
  return Object.assign(Object.create(Object.getPrototypeOf(object)), object, changed);
}
