# Fixed by https://github.com/kubernetes/autoscaler/pull/9603, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-8855
Feature: A CapacityBuffer gets its status, though no object of a CRD can be sent as protobuf

  @externalgrpc-8855-buffer
  Scenario: A buffer asks for room for one pod, and the flag for the content type is left as it is
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type  | min | max |
      | best | large | 0   | 1   |
    And these objects from the file "capacity-buffers.yaml"
    And Cluster Autoscaler with the flags:
      | --capacity-buffer-controller-enabled    | true |
      | --capacity-buffer-pod-injection-enabled | true |
    When these objects are created:
      """
      apiVersion: v1
      kind: PodTemplate
      metadata: {name: room, namespace: default}
      template:
        spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 3}}}]}
      ---
      apiVersion: autoscaling.x-k8s.io/v1beta1
      kind: CapacityBuffer
      metadata: {name: room, namespace: default}
      spec: {provisioningStrategy: buffer.x-k8s.io/active-capacity, podTemplateRef: {name: room}, replicas: 1}
      """
    Then "cloud" has recorded "created" of "instances" 1 times within 10m
