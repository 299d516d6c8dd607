import type { LabelSelector } from '../../meta/index.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { refuse, validateLabels } from './metadata.ts';
import { labelValue, qualifiedName } from './names.ts';

/** What is wrong with a label selector at `field` (apimachinery `meta/v1/validation`). */
export function validateLabelSelector(selector: LabelSelector, field: string): FieldError[] {
  const errors: FieldError[] = [];
  validateLabels(selector.matchLabels, `${field}.matchLabels`, errors);
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    errors.push(...validateRequirement(requirement, `${field}.matchExpressions[${index}]`));
  }
  return errors;
}

function validateRequirement(
  { key = '', operator = '', values = [] }: Partial<NonNullable<LabelSelector['matchExpressions']>[number]>,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(fieldRequired(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(
        fieldForbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
  } else errors.push(fieldInvalid(`${field}.operator`, operator, 'not a valid selector operator'));
  refuse(`${field}.key`, key, qualifiedName(key), errors);
  for (const [index, value] of values.entries()) refuse(`${field}.values[${index}]`, value, labelValue(value), errors);
  return errors;
}
