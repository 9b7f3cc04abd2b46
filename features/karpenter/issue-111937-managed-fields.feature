# See https://github.com/kubernetes/kubernetes/issues/111937.

@karpenter @issue-111937
Feature: What was applied in a version can be applied again when that version is no more

  The API server notes in which version a manager owns fields (metadata.managedFields). Up to v1.0 the CRDs of Karpenter
  have v1beta1.

  @karpenter-111937-managed-fields
  Scenario: A NodePool is applied as v1 after an upgrade, before Karpenter has written it
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.0.6 runs in place of the target until it is upgraded
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      """
    When these objects are applied:
      """
      apiVersion: karpenter.sh/v1beta1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30m}
        template:
          spec:
            nodeClassRef: {apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m
    # The new process leads, and writes, when the lease of the old one has run out.
    When the target is upgraded, and its lease is left behind
    And the API server is asked to apply these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        limits: {cpu: "100"}
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30m}
        template:
          spec:
            expireAfter: Never
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    Then this holds within 1m:
      """
      never: {source: api, resource: nodepools, actor: kubectl, code: 500}
      ever: true
      """
