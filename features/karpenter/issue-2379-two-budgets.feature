# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2379

@karpenter @issue-2379
Feature: A machine is not replaced whose pod cannot be evicted, for it has two disruption budgets

  @karpenter-2379-two-budgets
  Scenario: Both budgets allow the disruption of the pod, and the NodePool is edited
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
        disruption: {consolidateAfter: Never, budgets: [{nodes: "100%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default, labels: {app: web}}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 1}}}]}
      """
    Then the pod "web" is Running within 5m
    When these objects are created:
      """
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: of-the-team, namespace: default}
      spec: {minAvailable: 0, selector: {matchLabels: {app: web}}}
      ---
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: of-the-platform, namespace: default}
      spec: {minAvailable: 0, selector: {matchLabels: {app: web}}}
      """
    And the scenario waits for 1m
    And "NodePool/default" is patched with:
      """
      spec: {template: {metadata: {labels: {example.org/edited: "1"}}}}
      """
    Then "karpenter" never sends "create" of "nodeclaims" within 5m
