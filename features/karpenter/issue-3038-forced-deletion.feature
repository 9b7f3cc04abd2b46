# https://github.com/kubernetes-sigs/karpenter/pull/3038

@karpenter @issue-3038
Feature: No pod is deleted by force, however little time is left

  @karpenter-3038-forced-deletion
  Scenario: A machine that may take no time at all to go
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            terminationGracePeriod: 0s
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    When "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then the pod "web" is gone within 5m
    And this holds:
      """
      ever: true
      never: {source: api, verb: delete, resource: pods, actor: karpenter, detail: {gracePeriodSeconds: [0, -1, -2]}}
      """
