# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2423, first in v1.5.4, v1.6.2 and v1.7.0.

@karpenter @issue-2423
Feature: A machine that is not as its NodePool says any more goes, with pods or without

  @karpenter-2423-empty-drifted
  Scenario: The NodePool changes, and its empty machine may not be consolidated
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
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, annotations: {nodestorm.sim/stop-after: 1m}}
      spec:
        terminationGracePeriodSeconds: 120
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    When "Pod/web" is deleted
    And "NodePool/default" is patched with:
      """
      spec: {template: {metadata: {labels: {example.com/generation: second}}}}
      """
    And a pod "api" that requests 1 CPU is created once "sim-node" has sent "delete" of "pods" "web"
    Then "karpenter" has sent "delete" of "nodeclaims" before "kube-scheduler" has sent "create" of "pods/binding" "api" within 5m
