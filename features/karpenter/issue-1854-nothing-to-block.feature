# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/1854

@karpenter @issue-1854
Feature: A NodePool without nodes is not said to have its disruption blocked

  @karpenter-1854-nothing-to-block
  Scenario: Of two NodePools one has a node
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: spare}
      spec:
        weight: 1
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "10%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            taints: [{key: example.com/spare, effect: NoSchedule}]
            requirements:
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And this holds within 3m:
      """
      never: {source: api, verb: [create, patch], resource: events, actor: karpenter, detail: {about: NodePool/spare, reason: DisruptionBlocked}}
      """
