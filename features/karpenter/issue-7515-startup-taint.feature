# https://github.com/aws/karpenter-provider-aws/issues/7515

@karpenter @issue-7515
Feature: A startup taint that the NodePool declares does not launch a second machine

  A node agent such as Cilium's taints its Node until it is ready. Karpenter
  looks past the taint only if the NodePool declares it, with the same key and
  the same effect; otherwise the pending pod does not fit the machine that was
  launched for it, and the next batch launches another one.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And a node agent "cilium" that taints its Node with "node.cilium.io/agent-not-ready:NoSchedule" from 1s to 1m30s after registration

  @karpenter-7515-startup-taint-undeclared
  Scenario: The NodePool does not declare the agent's taint
    Given Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "web" is Running within 5m

  @karpenter-7515-startup-taint-declared
  Scenario: The NodePool declares the taint with the same key and effect
    Given Karpenter
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
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
            startupTaints:
              - {key: node.cilium.io/agent-not-ready, effect: NoSchedule}
      """
    When a pod "web" that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "web" is Running within 5m

  @karpenter-7515-startup-taint-other-effect
  Scenario: The NodePool declares the taint's key with another effect
    Given Karpenter
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
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
            startupTaints:
              - {key: node.cilium.io/agent-not-ready, effect: NoExecute}
      """
    When a pod "web" that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "web" is Running within 5m
