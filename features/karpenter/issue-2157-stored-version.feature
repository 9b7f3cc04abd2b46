# See https://github.com/kubernetes-sigs/karpenter/issues/2157.

@karpenter @issue-2157
Feature: CRDs can be upgraded in a cluster that has been upgraded before

  Releases before v1.0 store NodePools as v1beta1, and a CRD keeps all versions in mind that it ever stored.

  @karpenter-2157-stored-version
  Scenario: NodePools were once stored in a version that the release does not have
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.0.6 runs in place of the target until it is upgraded
    And these objects:
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: nodepools.karpenter.sh}
      spec:
        group: karpenter.sh
        scope: Cluster
        names: {kind: NodePool, listKind: NodePoolList, plural: nodepools, singular: nodepool}
        versions:
          - name: v1beta1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m
    When the target is upgraded, but for CRDs that are refused
    And a pod "later" that requests 3 CPU is created
    Then the pod "later" is Running within 2m
    And this holds within 1m:
      """
      never: {source: api, verb: update, resource: customresourcedefinitions, code: 422}
      ever: true
      """
