# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2341

@karpenter @issue-2341
Feature: A pod that gets no machine is said to get none

  @karpenter-2341-no-instance-type-left
  Scenario: The only NodePool wants an instance type that the cloud does not have
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
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-5x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When a pod "web" that requests 1 CPU is created
    Then this holds within 5m:
      """
      happens: {source: api, verb: create, resource: events, actor: karpenter, detail: {about: Pod/web, reason: FailedScheduling}}
      """
