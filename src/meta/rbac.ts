/** rbac.authorization.k8s.io/v1 PolicyRule: what a controller exports beside its reconciler. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}
